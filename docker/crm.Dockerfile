# syntax=docker/dockerfile:1@sha256:ecfaec9ed6d810b56388c508f4121597bfbba70d41a6dfeee4d8cad5f295fc32
# The CRM service with its website, and the operator's command line (docker run ... leads migrate).
# Build from the repository's root: docker build -f docker/crm.Dockerfile -t leads-crm .
# `npm run images:check` runs these steps without a container engine. It supports only the instructions in this file.

# docker/README.md renews the digest.
ARG NODE_IMAGE=node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d

# The stages `pruned` and `build` are identical in both Dockerfiles, so a build of both images runs them once.
FROM ${NODE_IMAGE} AS pruned
ENV DO_NOT_TRACK=1
WORKDIR /src
COPY . .
RUN node docker/turbo-lock.js ../turbo
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts --prefix ../turbo
RUN ../turbo/node_modules/.bin/turbo prune @leads/crm @leads/intake --docker

FROM ${NODE_IMAGE} AS build
ENV DO_NOT_TRACK=1
WORKDIR /src
# Copies the manifests first, so that the installation is cached until a manifest changes.
COPY --from=pruned /src/out/json ./
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts
COPY --from=pruned /src/out/full ./
COPY tsconfig.base.json ./
COPY prisma prisma
RUN npx turbo run build --filter=@leads/crm --filter=@leads/intake
# Writes the list of packages of each image. Fails if a package is for development only.
COPY docker/sbom.js docker/sbom.js
RUN npm sbom --sbom-format cyclonedx > all.cdx.json
RUN node docker/sbom.js apps/intake/dist node_modules/@scalar/fastify-api-reference < all.cdx.json > intake.cdx.json
RUN node docker/sbom.js apps/crm/dist packages/website/dist node_modules/@scalar/fastify-api-reference \
  < all.cdx.json > crm.cdx.json
RUN find apps/*/dist packages/website/dist -name '*.map' -delete
RUN ln -s leads.js apps/crm/bin/leads

# The image contains the bundled service (apps/crm/dist) and the files that it reads at run time. This stage installs and
# runs nothing. The service writes no files.
FROM ${NODE_IMAGE}
ARG VERSION=1.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="leads-crm" \
  org.opencontainers.image.description="The CRM API and website of leads, and the operator's command line" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
ENV NODE_ENV=production CRM_HOST=0.0.0.0 CRM_PORT=3000 PATH=/app/apps/crm/bin:$PATH
WORKDIR /app
COPY LICENSE ./
COPY --from=build /src/crm.cdx.json sbom.cdx.json
COPY --from=build /src/node_modules/@scalar/fastify-api-reference node_modules/@scalar/fastify-api-reference
COPY --from=build /src/prisma/migrations prisma/migrations
COPY --from=build /src/packages/website/package.json node_modules/@leads/website/package.json
COPY --from=build /src/packages/website/dist node_modules/@leads/website/dist
COPY --from=build /src/apps/crm/package.json apps/crm/package.json
COPY --from=build /src/apps/crm/bin apps/crm/bin
COPY --from=build /src/apps/crm/dist apps/crm/dist
# The user `node` of the base image, as a number, so that Kubernetes can verify that it is not root.
USER 1000:1000
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --start-interval=1s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.CRM_PORT + '/health/live').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Node 24 lets the young generation grow to several times that of Node 20: exports would take 320 instead of 205 MB.
CMD ["node", "--max-semi-space-size=8", "apps/crm/dist/server.js"]
