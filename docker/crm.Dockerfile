# syntax=docker/dockerfile:1
# The CRM service with its website, and the operator's command line (docker run ... leads migrate).
# Build from the repository's root: docker build -f docker/crm.Dockerfile -t leads-crm .

FROM node:22-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN npm ci --ignore-scripts
RUN npx turbo run build --filter=@leads/crm

# The service is bundled into apps/crm/dist: beside it only the files that are read while it runs.
FROM node:22-bookworm-slim
ENV NODE_ENV=production CRM_HOST=0.0.0.0 CRM_PORT=3000
WORKDIR /app
COPY --from=build /src/apps/crm/package.json apps/crm/package.json
COPY --from=build /src/apps/crm/dist apps/crm/dist
COPY --from=build /src/node_modules/@scalar/fastify-api-reference node_modules/@scalar/fastify-api-reference
COPY --from=build /src/apps/crm/bin apps/crm/bin
COPY --from=build /src/packages/website/package.json node_modules/@leads/website/package.json
COPY --from=build /src/packages/website/dist node_modules/@leads/website/dist
COPY --from=build /src/prisma/migrations prisma/migrations
COPY --from=build /src/node_modules/@prisma/schema-engine-wasm node_modules/@prisma/schema-engine-wasm
RUN ln -s /app/apps/crm/bin/leads.js /usr/local/bin/leads
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.CRM_PORT + '/health/live').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "apps/crm/dist/server.js"]
