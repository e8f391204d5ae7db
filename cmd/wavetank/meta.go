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
	m.Command = recorded(e.args)
	return m
}

// recorded is a command line as it may be kept in a file: without secrets, and
// without the file's own name, so that equal work gives equal bytes.
func recorded(args []string) []string {
	command := []string{"wavetank"}
	for i := 1; i < len(args); i++ {
		name, _, joined := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		flag := strings.HasPrefix(args[i], "-") && args[i] != "-"
		switch {
		case flag && (name == "o" || name == "output"):
			if !joined {
				i++
			}
		case flag && name == "force":
		case flag && name == "header":
			command = append(command, "--header=***")
			if !joined {
				i++
			}
		default:
			command = append(command, withoutSecrets(args[i]))
		}
	}
	return command
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
