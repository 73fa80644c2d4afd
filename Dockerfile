ARG NODE_VERSION=24
ARG DEBIAN_SUITE=trixie

# The packages from npm, made apart so that npm's cache is not in the image.
FROM docker.io/library/node:${NODE_VERSION}-${DEBIAN_SUITE}-slim AS packages
WORKDIR /opt/platen
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM docker.io/library/node:${NODE_VERSION}-${DEBIAN_SUITE}-slim

# Held equal to src/setup/debian-packages.mjs by a test; tini is for the image alone.
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      chromium-headless-shell \
      libreoffice-core-nogui \
      libreoffice-writer-nogui \
      libreoffice-calc-nogui \
      libreoffice-impress-nogui \
      libreoffice-draw-nogui \
      libreoffice-math-nogui \
      libreoffice-base-drivers \
      python3-uno \
      python3-pikepdf \
      util-linux \
      fonts-liberation2 \
      fonts-crosextra-carlito \
      fonts-crosextra-caladea \
      fonts-dejavu-core \
      fonts-noto-core \
      fonts-noto-cjk \
      fonts-noto-color-emoji \
      tini \
 # So that no start has to look through all fonts, and no user needs a folder to keep what it found.
 && fc-cache --system-only \
 # Drivers for graphics cards, 200 MB: LibreOffice is linked to what would load them, and draws without. Chromium has its own.
 && rm -f /usr/lib/*/libLLVM.so.* /usr/lib/*/libgallium-*.so /usr/lib/*/libz3.so.* \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log

# Any other uid will do as well: nothing is written but below /tmp, so the root may be read-only.
RUN groupadd --gid 1001 platen && useradd --uid 1001 --gid platen --groups root --no-create-home --home-dir /tmp platen

WORKDIR /opt/platen
COPY --from=packages /opt/platen/node_modules node_modules
COPY package.json LICENSE ./
COPY modules modules
COPY src src
# A read-only root can't keep what Python compiles, so that every start of an engine would compile it again.
RUN python3 -m compileall -q modules/libreoffice/python modules/pdf/python

USER 1001
# Node looks up host names in this pool, in half of it: with its 4 threads, two dead names hold up everybody's.
ENV HOME=/tmp LANG=C.UTF-8 NODE_ENV=production UV_THREADPOOL_SIZE=16
EXPOSE 3000

# Ready means: not stopping, and no engine that can't be started. It never asks an engine.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "-e", "\
  const { API_PORT = 3000, API_ROOT_PATH = '/' } = process.env; \
  fetch(`http://127.0.0.1:${API_PORT}${API_ROOT_PATH}readyz`).then(answer => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]

ENTRYPOINT ["tini", "--", "node", "src/main.ts"]
CMD []

ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Platen" \
      org.opencontainers.image.description="HTML, Office files and PDFs become PDFs, over HTTP" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
