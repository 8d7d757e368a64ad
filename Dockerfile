# One image for edge, platform, jobs and a model proxy apart: docker-compose.yml says which of them a container is.
# Node comes twice: the base image's runs npm, the product runs on the one that its packages bring.

FROM node:24.11.1-bookworm-slim@sha256:48abc13a19400ca3985071e287bd405a1d99306770eb81d61202fb6b65cf0b57 AS build
WORKDIR /app
COPY . .
RUN npm run build
# What runs, with the packages that it loads: neither compiler nor database.
RUN node scripts/runtime.mjs runtime
# Mounted over at run time; made here so that it belongs to the user who writes there.
RUN mkdir -p data

FROM node:24.11.1-bookworm-slim@sha256:48abc13a19400ca3985071e287bd405a1d99306770eb81d61202fb6b65cf0b57 AS runtime
# Nothing is installed or compiled when a container starts: the scripts before `start:…` don't run.
ENV NODE_ENV=production NPM_CONFIG_IGNORE_SCRIPTS=true DATA_DIR=/app/data
WORKDIR /app
COPY --from=build /app/runtime/node_modules node_modules
COPY --from=build /app/runtime/dist dist
COPY --from=build --chown=node:node /app/data data
COPY package.json .npmrc proxy.config.yaml ./
USER node
EXPOSE 8080
CMD ["npm", "run", "start:edge"]
