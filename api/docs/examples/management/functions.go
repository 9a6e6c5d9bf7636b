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

const orderStatus = `{
	"type": "http", "name": "order_status", "description": "Returns the status of an order.",
	"parameters": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
	"http": {"method": "GET", "url": "https://api.example.com/orders/{order}",
		"headers": {"Authorization": "Bearer {{secret.ORDERS_CREDENTIAL}}"}}}`

func main() {
	ask("PUT", "/v1/secrets/ORDERS_CREDENTIAL", `{"value": "8f0c2a71"}`, nil)
	var secrets struct{ Data []struct{ Name string } }
	ask("GET", "/v1/secrets", "", &secrets)
	for _, secret := range secrets.Data {
		fmt.Println(secret.Name) // values are never shown
	}
	var agent struct {
		ID    string
		Tools []struct{ Name string }
	}
	ask("POST", "/v1/agents", `{"name": "Orders", "tools": [`+orderStatus+`]}`, &agent)
	fmt.Println(agent.ID, "calls", agent.Tools[0].Name)

	ask("DELETE", "/v1/agents/"+agent.ID, "", nil)
	ask("DELETE", "/v1/secrets/ORDERS_CREDENTIAL", "", nil)
	fmt.Println("removed")
}
