//go:build ignore

package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
)

func ask(method, path string, want int) *http.Response {
	request, err := http.NewRequest(method, os.Getenv("PARLEY_URL")+path, nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_API_KEY"))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	if answer.StatusCode != want {
		log.Fatal(answer.Status)
	}
	return answer
}

func main() {
	list := ask("GET", "/v1/calls?limit=100&number="+url.QueryEscape("+34600111222"), http.StatusOK)
	defer list.Body.Close()
	var calls struct{ Data []struct{ ID string } }
	if err := json.NewDecoder(list.Body).Decode(&calls); err != nil {
		log.Fatal(err)
	}
	for _, call := range calls.Data {
		ask("DELETE", "/v1/calls/"+call.ID, http.StatusNoContent).Body.Close()
	}
	fmt.Println(len(calls.Data), "calls forgotten")
}
