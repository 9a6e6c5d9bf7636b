//go:build ignore

package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	request, err := http.NewRequest("POST", os.Getenv("PARLEY_URL")+"/tts/synthesize",
		strings.NewReader(`{"text": "Good morning! Your table is ready.", "voice": "F1", "language": "en"}`))
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
	wav, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		log.Fatalf("%s: %s", answer.Status, wav)
	}
	if err := os.WriteFile("hello.wav", wav, 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("hello.wav: %d bytes\n", len(wav))
}
