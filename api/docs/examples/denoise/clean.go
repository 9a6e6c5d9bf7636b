//go:build ignore

package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
)

func main() {
	recording, err := os.Open("speech.wav")
	if err != nil {
		log.Fatal(err)
	}
	request, err := http.NewRequest("POST", os.Getenv("PARLEY_URL")+"/denoise", recording)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_API_KEY"))
	request.Header.Set("Content-Type", "audio/wav")
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
	if err := os.WriteFile("clean.wav", wav, 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("clean.wav: %d bytes, %s seconds charged\n", len(wav), answer.Header.Get("X-Audio-Duration-Seconds"))
}
