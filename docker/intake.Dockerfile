# syntax=docker/dockerfile:1
# The edge intake service.
# Build from the repository's root: docker build -f docker/intake.Dockerfile -t leads-intake .

FROM node:22-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN npm ci --ignore-scripts
RUN npx turbo run build --filter=@leads/intake

# The service is bundled into apps/intake/dist: beside it only the files that are read while it runs.
FROM node:22-bookworm-slim
ENV NODE_ENV=production INTAKE_HOST=0.0.0.0 INTAKE_PORT=3001
WORKDIR /app
COPY --from=build /src/apps/intake/package.json apps/intake/package.json
COPY --from=build /src/apps/intake/dist apps/intake/dist
COPY --from=build /src/node_modules/@scalar/fastify-api-reference node_modules/@scalar/fastify-api-reference
USER node
EXPOSE 3001
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.INTAKE_PORT + '/health/live').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "apps/intake/dist/server.js"]
