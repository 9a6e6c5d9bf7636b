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

// ask returns the ETag of what it reads into answer, unless that is nil.
func ask(method, path, body, ifMatch string, into any) (etag string) {
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
	if into != nil {
		if err := json.Unmarshal(got, into); err != nil {
			log.Fatal(err)
		}
	}
	return answer.Header.Get("ETag")
}

func main() {
	var agent struct{ ID, Name string }
	ask("POST", "/v1/agents", `{"name": "Lola", "voice": "F1", "language": "en", "prompt": "We are open from nine to six."}`, "", &agent)

	// The ETag makes sure that nobody else has changed it in between.
	etag := ask("GET", "/v1/agents/"+agent.ID, "", "", &agent)
	ask("PATCH", "/v1/agents/"+agent.ID, `{"name": "Lola the Second"}`, etag, &agent)
	fmt.Println(agent.Name)

	var page struct{ Data []json.RawMessage }
	ask("GET", "/v1/agents?limit=5", "", "", &page)
	fmt.Println(len(page.Data), "agents on the first page")
	ask("DELETE", "/v1/agents/"+agent.ID, "", "", nil)
	fmt.Println("deleted")
}
