package onnxtest

import (
	"os"
	"path/filepath"
	"testing"

	"parley/inference/onnx"
)

// Library is where make test puts ONNX Runtime. PARLEY_ONNX_LIBRARY names another.
func Library(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("PARLEY_ONNX_LIBRARY"); path != "" {
		return path
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != "/"; dir = filepath.Dir(dir) {
		if path := filepath.Join(dir, "bin", "onnx", onnx.Library); exists(path) {
			return path
		}
	}
	t.Fatal("there is no bin/onnx/" + onnx.Library + ": make onnx brings it")
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Dir is a directory of the test that its children can read where they run under another account.
func Dir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
