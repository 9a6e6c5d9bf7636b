// Command generate writes what clients have from the service's OpenAPI document: types, and a method for each operation;
// of the client in Go those that are not written by hand. Sessions over sockets are written by hand, beside it.
//
//	go run ./api/client/generate
//
// It reads api/openapi.yaml and writes below api/client; a test holds what is there to the document.
package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

func main() {
	if err := run("api"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run writes the files of the clients below the folder of the package api.
func run(api string) error {
	text, err := os.ReadFile(filepath.Join(api, "openapi.yaml"))
	if err != nil {
		return err
	}
	files, err := generate(text, filepath.Join(api, "wire"))
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(api, "client", name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate makes the files of the clients, by their names below api/client; wire is the folder of the package wire.
func generate(openAPI []byte, wire string) (map[string][]byte, error) {
	var d document
	if err := yaml.Unmarshal(openAPI, &d); err != nil {
		return nil, err
	}
	calls, err := d.calls()
	if err != nil {
		return nil, err
	}
	types, methods := pythonFiles(&d, calls)
	files, err := goFiles(&d, calls, wire)
	if err != nil {
		return nil, err
	}
	maps.Copy(files, map[string][]byte{
		"typescript/src/api.ts":          typeScript(&d, calls),
		"python/parley_client/types.py":  types,
		"python/parley_client/client.py": methods,
	})
	return files, nil
}
