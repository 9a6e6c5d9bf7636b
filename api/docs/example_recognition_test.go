package docs_test

import (
	"bytes"
	"fmt"
	"log"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

func Example_clip() {
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

	var heard struct{ Text string }
	read(send("POST", "/stt/transcribe", body.String(), "Content-Type", form.FormDataContentType()), &heard)
	fmt.Println(heard.Text)
}

// dictate sends what a microphone hears, and then that it has ended.
func dictate(socket *websocket.Conn, samples []byte) {
	socket.WriteJSON(map[string]string{"language": "en", "vad": "rms"}) // errors show when reading
	for len(samples) > 0 {
		n := min(3200, len(samples))
		// As a microphone would: a tenth of a second at a time.
		socket.WriteMessage(websocket.BinaryMessage, samples[:n])
		samples = samples[n:]
		time.Sleep(100 * time.Millisecond)
	}
	socket.WriteJSON(map[string]string{"type": "end"})
}

func Example_live() {
	wav, err := os.ReadFile("speech.wav")
	if err != nil {
		log.Fatal(err)
	}
	url := strings.Replace(os.Getenv("PARLEY_URL"), "http", "ws", 1) + "/ws/stt"
	socket, _, err := websocket.DefaultDialer.Dial(url, http.Header{"X-API-Key": {os.Getenv("PARLEY_API_KEY")}})
	if err != nil {
		log.Fatal(err)
	}
	defer socket.Close()
	go dictate(socket, wav[44:]) // 16 kHz, mono, 16 bits: past the header
	for {
		var message struct {
			Type, Data string
			IsFinal    bool
		}
		if err := socket.ReadJSON(&message); err != nil {
			log.Fatal(err)
		}
		switch {
		case message.Type == "error":
			log.Fatal(message.Data)
		case message.Type == "transcript":
			fmt.Println(message.Data)
			if message.IsFinal {
				return
			}
		}
	}
}
