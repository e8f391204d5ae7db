STATICCHECK = go run honnef.co/go/tools/cmd/staticcheck@v0.8.2
PLATFORMS   = linux/arm64 darwin/arm64 windows/amd64
FUZZTIME    = 2s

.PHONY: check fmt lint test fuzz cross e2e bench bench-peers
check: fmt lint test fuzz cross e2e

fmt:
	@test -z "$$(gofmt -l .)" || { gofmt -l . ; exit 1; }

lint:
	go vet ./... ./testdata
	$(STATICCHECK) ./...

test:
	go test -race ./...

fuzz:
	.ci/fuzz $(FUZZTIME)

cross:
	for p in $(PLATFORMS); do CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} go build -o /dev/null ./cmd/wavetank || exit 1; done

e2e:
	.ci/e2e

bench:
	go test -run '^$$' -bench . -benchmem ./...
bench-peers:
	go test -run '^$$' -bench 'Peers|MooncakeConversation' -benchtime 1x ./cmd/wavetank
