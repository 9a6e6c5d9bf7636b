//go:build ignore

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

func ask(method, path, body string, into any) {
	request, err := http.NewRequest(method, os.Getenv("PARLEY_URL")+path, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	if answer.StatusCode >= 400 {
		log.Fatalf("%s: %s", answer.Status, got)
	}
	if into != nil {
		if err := json.Unmarshal(got, into); err != nil {
			log.Fatal(err)
		}
	}
}

func main() {
	var created struct{ ID string }
	ask("POST", "/v1/keys", `{"name": "website"}`, &created) // the answer holds the key itself, this once
	var keys struct{ Data []struct{ ID, Name string } }
	ask("GET", "/v1/keys", "", &keys)
	for _, key := range keys.Data {
		fmt.Println(key.ID, key.Name)
	}
	ask("DELETE", "/v1/keys/"+created.ID, "", nil)
	fmt.Println(created.ID, "revoked")
}
