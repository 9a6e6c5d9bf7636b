//go:build !linux

package main

import (
	"errors"
	"os"
)

// memoryFile makes a temporary file. It stays until the system cleans up, and the file is nil after an error.
func memoryFile(name string, text []byte) (*os.File, error) {
	f, err := os.CreateTemp("", "parley-"+name+"-*")
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(text); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}
