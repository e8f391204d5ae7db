package main

import (
	"net/url"
	"runtime"
	"runtime/debug"
	"strings"

	"wavetank/traces"
)

// version is that of the module, or of the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return "devel"
}

// stamp writes into m how the file comes to be.
func (e *env) stamp(m traces.Meta) traces.Meta {
	m.Tool, m.GoVersion = "wavetank "+version(), runtime.Version()
	m.Command = nil
	for i, arg := range e.args {
		if i == 0 {
			arg = "wavetank"
		}
		m.Command = append(m.Command, withoutSecrets(arg))
	}
	return m
}

// withoutSecrets takes the user and the query out of a URL, where people put keys.
func withoutSecrets(arg string) string {
	flag, value, isFlag := strings.Cut(arg, "=")
	if !isFlag || !strings.HasPrefix(flag, "-") {
		flag, value = "", arg
	}
	u, err := url.Parse(value)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return arg
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	if flag != "" {
		return flag + "=" + u.String()
	}
	return u.String()
}
