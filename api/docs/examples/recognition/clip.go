//go:build ignore

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"mime/multipart"
	"net/http"
	"os"
)

func main() {
	wav, err := os.ReadFile("speech.wav")
	if err != nil {
		log.Fatal(err)
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("audio", "speech.wav")
	if err != nil {
		log.Fatal(err)
	}
	part.Write(wav) // into memory
	form.WriteField("language", "en")
	form.Close()

	request, err := http.NewRequest("POST", os.Getenv("PARLEY_URL")+"/stt/transcribe", &body)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_API_KEY"))
	request.Header.Set("Content-Type", form.FormDataContentType())
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	var heard struct{ Text string }
	if answer.StatusCode != http.StatusOK {
		log.Fatal(answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(&heard); err != nil {
		log.Fatal(err)
	}
	fmt.Println(heard.Text)
}
