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

func ask(method, path, body string, into any) {
	request, err := http.NewRequest(method, os.Getenv("PARLEY_URL")+"/v1/operator/users"+path, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("OPERATOR_KEY"))
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil || answer.StatusCode != http.StatusOK {
		log.Fatal(answer.Status, err)
	}
}

func main() {
	var users struct {
		Data []struct{ ID, Email string }
	}
	ask("GET", "?limit=100", "", &users)
	fmt.Println("users:", len(users.Data))
	for _, user := range users.Data {
		if user.Email == "gone@example.com" {
			var left struct{ Keys []struct{ ID, Name string } }
			ask("PATCH", "/"+user.ID, `{"disabled": true}`, &left)
			ask("DELETE", "/"+user.ID+"?keys=revoke", "", &left)
			fmt.Println(left.Keys)
		}
	}
}
