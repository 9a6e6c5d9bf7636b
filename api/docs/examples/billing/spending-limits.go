//go:build ignore

package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
)

func limits(method, path, body string) (list struct {
	Data []struct {
		Name       string
		Spent      json.Number
		DailyLimit json.Number `json:"daily_limit"`
	}
}) {
	request, err := http.NewRequest(method, os.Getenv("PARLEY_URL")+"/v1/spending-limits"+path, strings.NewReader(body))
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
	if answer.StatusCode >= 400 {
		log.Fatal(answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(&list); err != nil {
		log.Fatal(err)
	}
	return list
}

func main() {
	// In place of account stands the identifier of a key or an agent; null takes the limit away.
	limits("PATCH", "/account", `{"daily_limit": 20}`)
	for _, l := range limits("GET", "", "").Data {
		fmt.Println(l.Name, l.Spent, "of", l.DailyLimit)
	}
}
