package traces

// syncDir does nothing: a directory cannot be flushed there.
func syncDir(string) error { return nil }
