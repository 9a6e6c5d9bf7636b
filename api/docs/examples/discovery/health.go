//go:build ignore

package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
)

func main() {
	for _, path := range []string{"/health", "/status"} {
		answer, err := http.Get(os.Getenv("PARLEY_URL") + path)
		if err != nil {
			log.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %s\n", path, body)
	}
}
