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
	request, err := http.NewRequest("GET", os.Getenv("PARLEY_URL")+"/v1/events?limit=10", nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_API_KEY"))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		log.Fatal(answer.Status)
	}
	var events struct {
		Data []struct {
			Kind, Message string
			CreatedAt     string `json:"created_at"`
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&events); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(events.Data), "events")
	for _, event := range events.Data {
		fmt.Println(event.CreatedAt, event.Kind, event.Message)
	}
}
