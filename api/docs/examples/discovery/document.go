//go:build ignore

package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

func main() {
	answer, err := http.Get(os.Getenv("PARLEY_URL") + "/openapi.json")
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	var document struct {
		OpenAPI string
		Paths   map[string]any
	}
	if err := json.NewDecoder(answer.Body).Decode(&document); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("OpenAPI %s, %d paths\n", document.OpenAPI, len(document.Paths))
}
