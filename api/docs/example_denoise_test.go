package docs_test

import (
	"fmt"
	"log"
	"os"
)

func Example_clean() {
	recording, err := os.ReadFile("speech.wav")
	if err != nil {
		log.Fatal(err)
	}
	answer := send("POST", "/denoise", string(recording), "Content-Type", "audio/wav")
	wav := bytesOf(answer)
	if err := os.WriteFile("clean.wav", wav, 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("clean.wav: %d bytes, %s seconds charged\n", len(wav), answer.Header.Get("X-Audio-Duration-Seconds"))
}
