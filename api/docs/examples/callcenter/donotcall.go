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

func ask(method, path, kind, body string) []byte {
	request, err := http.NewRequest(method, os.Getenv("PARLEY_URL")+"/v1/do-not-call"+path, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_API_KEY"))
	request.Header.Set("Content-Type", kind)
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
	return got
}

func read(body []byte, into any) {
	if err := json.Unmarshal(body, into); err != nil {
		log.Fatal(err)
	}
}

func main() {
	const asJSON = "application/json"
	ask("POST", "", asJSON, `{"number": "+34 612 345 677", "reason": "wrote to us"}`)
	var entry struct{ Number, Reason string }
	read(ask("GET", "/+34612345677", asJSON, ""), &entry)
	fmt.Printf("%s is not called: %s\n", entry.Number, entry.Reason)
	var list struct{ Data []struct{ Number string } }
	read(ask("GET", "?limit=10", asJSON, ""), &list)
	fmt.Printf("%d numbers on this page\n", len(list.Data))

	// A list from elsewhere, and ours as a file.
	var imported struct{ Added, Known int }
	read(ask("POST", ".csv", "text/csv", "number,reason\n+34612345678,asked by mail\n"), &imported)
	fmt.Printf("%d added, %d known\n", imported.Added, imported.Known)
	fmt.Printf("%s\n", ask("GET", ".csv", asJSON, ""))

	for _, number := range []string{"+34612345677", "+34612345678"} {
		ask("DELETE", "/"+number, asJSON, "")
	}
	fmt.Println("removed")
}
