# The application of the reference deployment. Build it from the root of the repository, with
# BuildKit:
#
#   docker build -f deploy/k8s/shop.Dockerfile -t registry.example.com/shop:0.1.0 .

FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
ARG TARGETOS TARGETARCH
WORKDIR /src
COPY . .
WORKDIR /src/e2e
# GOWORK=off: the module is built from its own go.mod, as in the tests.
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOWORK=off GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -buildvcs=false -ldflags="-s -w" -o /out/shop ./rehearsal/shop

FROM scratch
# For connections with TLS to the database and to Redis.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/shop /shop
# A number, so that Kubernetes can see that it is not root (runAsNonRoot).
USER 65532:65532
ENTRYPOINT ["/shop"]
