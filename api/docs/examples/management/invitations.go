//go:build ignore

package main

import (
	"crypto/rand"
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
	var made struct{ ID, URL string }
	email := "guest-" + rand.Text() + "@example.com"
	ask("POST", "/v1/invitations", fmt.Sprintf(`{"email": %q, "role": "member"}`, email), &made)
	fmt.Println(made.URL) // this once: send it to them
	var list struct {
		Data []struct {
			Email   string
			Expires string `json:"expires_at"`
		}
	}
	ask("GET", "/v1/invitations", "", &list)
	for _, i := range list.Data {
		fmt.Println(i.Email, "until", i.Expires)
	}
	ask("DELETE", "/v1/invitations/"+made.ID, "", nil)
	fmt.Println(made.ID, "taken back")
}
