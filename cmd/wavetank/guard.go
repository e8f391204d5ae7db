package main

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"slices"
)

// allowed refuses a target that is on the open internet and that nobody named:
// a replay costs its owner money.
func allowed(ctx context.Context, target string, hosts []string) error {
	u, err := url.Parse(target)
	if err != nil || u.Hostname() == "" {
		return nil // the target's own check says it better
	}
	host := u.Hostname()
	if slices.Contains(hosts, host) {
		return nil
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return err
	}
	for _, addr := range addrs {
		if !private(addr.Unmap()) {
			return hint(usage("--target %s is at %v, which is not in a private network", host, addr.Unmap()), "if requests may be sent there, and paid for: --allow-host %s", host)
		}
	}
	return nil
}

func private(addr netip.Addr) bool {
	return addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast()
}
