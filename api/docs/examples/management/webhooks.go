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

type webhook struct {
	ID, URL, Secret string
	Events          []string
}

func main() {
	var made, one, rotated webhook // the secret is shown this once: keep it
	ask("POST", "/v1/webhooks", `{"url": "https://bookings.example/parley", "events": ["call.ended", "call.transcript"]}`, &made)
	hook := "/v1/webhooks/" + made.ID
	var all struct{ Data []webhook }
	ask("GET", "/v1/webhooks", "", &all)
	for _, w := range all.Data {
		fmt.Println(w.ID, w.URL)
	}
	ask("PATCH", hook, `{"description": "Bookings"}`, nil)
	ask("GET", hook, "", &one)
	fmt.Println(one.Events)

	var event struct{ ID string }
	ask("POST", hook+"/test", "", &event)
	var deliveries struct {
		Data []struct{ Type, State string }
	}
	ask("GET", hook+"/deliveries?limit=5", "", &deliveries)
	fmt.Println(deliveries.Data)
	ask("POST", hook+"/deliveries/"+event.ID+"/retry", "", nil)

	ask("POST", hook+"/rotate", "", &rotated) // both secrets sign for a day
	fmt.Println(rotated.Secret != made.Secret)
	ask("DELETE", hook, "", nil)
	fmt.Println("removed")
}
