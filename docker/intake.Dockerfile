# syntax=docker/dockerfile:1@sha256:ecfaec9ed6d810b56388c508f4121597bfbba70d41a6dfeee4d8cad5f295fc32
# The edge intake service.
# Build from the repository's root: docker build -f docker/intake.Dockerfile -t leads-intake .
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

# The image contains the bundled service (apps/intake/dist) and the files that it reads at run time. This stage installs
# and runs nothing. The service writes no files.
FROM ${NODE_IMAGE}
ARG VERSION=1.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="leads-intake" \
  org.opencontainers.image.description="Accepts leads from landing pages" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
ENV NODE_ENV=production INTAKE_HOST=0.0.0.0 INTAKE_PORT=3001
WORKDIR /app
COPY LICENSE ./
COPY --from=build /src/intake.cdx.json sbom.cdx.json
COPY --from=build /src/node_modules/@scalar/fastify-api-reference node_modules/@scalar/fastify-api-reference
COPY --from=build /src/apps/intake/package.json apps/intake/package.json
COPY --from=build /src/apps/intake/dist apps/intake/dist
# The user `node` of the base image, as a number, so that Kubernetes can verify that it is not root.
USER 1000:1000
EXPOSE 3001
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --start-interval=1s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.INTAKE_PORT + '/health/live').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# The young generation of Node 20. With that of Node 24, the service uses 267 instead of 188 MB under load, and is not faster.
CMD ["node", "--max-semi-space-size=16", "apps/intake/dist/server.js"]
