//go:build ignore

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
)

type task struct {
	ID     string `json:"task_id"`
	Status string `json:"status"`
}

func ask(method, path string, body any) (t task) {
	text, err := json.Marshal(body)
	if err != nil {
		log.Fatal(err)
	}
	request, err := http.NewRequest(method, os.Getenv("PARLEY_URL")+path, bytes.NewReader(text))
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
	if err := json.NewDecoder(answer.Body).Decode(&t); err != nil {
		log.Fatal(err)
	}
	return t
}

func main() {
	text := strings.Repeat("Once upon a time there was a telephone. ", 500)
	t := ask("POST", "/api/tts/M1/async", map[string]string{"text": text, "language": "en"})
	fmt.Println(ask("DELETE", "/api/tts/tasks/"+t.ID, nil).Status)
}
