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
	"time"
)

func ask(method, path, body string) []byte {
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
	return got
}

func main() {
	var task struct {
		ID     string `json:"task_id"`
		Status string
	}
	answer := ask("POST", "/api/tts/M1/async",
		`{"text": "Once upon a time there was a telephone.", "language": "en", "output_format": "wav"}`)
	for {
		if err := json.Unmarshal(answer, &task); err != nil {
			log.Fatal(err)
		}
		if task.Status != "pending" && task.Status != "processing" {
			break
		}
		time.Sleep(2 * time.Second)
		answer = ask("GET", "/api/tts/tasks/"+task.ID, "")
	}
	if task.Status == "failed" {
		log.Fatalf("%s", answer)
	}
	audio := ask("GET", "/api/tts/tasks/"+task.ID+"/download", "")
	if err := os.WriteFile("story.wav", audio, 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("story.wav: %d bytes\n", len(audio))
}
