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
	var people struct {
		Data []struct {
			User  string `json:"user_id"`
			Email string
		}
	}
	ask("GET", "/v1/members", "", &people)
	for _, p := range people.Data {
		switch {
		case strings.HasSuffix(p.Email, "@former.example.com"): // left
			ask("DELETE", "/v1/members/"+p.User, "", nil)
		case strings.HasSuffix(p.Email, "@agency.example.com"): // helps out, and need not invite people
			ask("PATCH", "/v1/members/"+p.User, `{"role": "member"}`, nil)
		}
	}
	fmt.Println("everybody was looked at")
}
