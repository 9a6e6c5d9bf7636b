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

func ask(method, path, body, ifMatch string) []byte {
	request, err := http.NewRequest(method, os.Getenv("PARLEY_URL")+path, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	if ifMatch != "" {
		request.Header.Set("If-Match", ifMatch)
	}
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

func read(text []byte, into any) {
	if err := json.Unmarshal(text, into); err != nil {
		log.Fatal(err)
	}
}

func main() {
	var schema struct{ Properties map[string]json.RawMessage }
	read(ask("GET", "/v1/agents/schema", "", ""), &schema) // editors check agents by it
	fmt.Println(len(schema.Properties), "fields")

	var check struct {
		Valid    bool
		Mistakes []struct{ Path, Problem string }
	}
	read(ask("POST", "/v1/agents/validate", `{"name": "Lola", "settings": {"speed": 9}}`, ""), &check) // nothing is stored
	fmt.Println(check.Valid, check.Mistakes)

	var agent struct {
		ID           string
		Version      int
		FirstMessage string `json:"first_message"`
	}
	read(ask("POST", "/v1/agents", `{"name": "Lola", "first_message": "Hello {{caller.name}} from {{city}}!",
		"settings": {"variables": {"city": "Rome"}}}`, ""), &agent)
	path := "/v1/agents/" + agent.ID
	read(ask("PATCH", path, `{"first_message": "Hello!"}`, ""), &agent)

	var versions struct{ Data []json.RawMessage }
	read(ask("GET", path+"/versions", "", ""), &versions)
	fmt.Println(len(versions.Data), "versions")
	fmt.Println("changed:", string(ask("GET", path+"/versions/2/diff", "", "")))
	first := ask("GET", path+"/versions/1", "", "")
	// Refused by 412 when somebody else has changed it in between.
	read(ask("PUT", path, string(first), fmt.Sprintf(`"%d"`, agent.Version)), &agent)
	fmt.Println("restored:", agent.FirstMessage)

	ask("DELETE", path, "", "")
}
