//go:build ignore

package main

import (
	"bytes"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"

	"github.com/gorilla/websocket"
)

func main() {
	url := strings.Replace(os.Getenv("PARLEY_URL"), "http", "ws", 1) + "/ws/tts"
	socket, _, err := websocket.DefaultDialer.Dial(url, http.Header{"X-API-Key": {os.Getenv("PARLEY_API_KEY")}})
	if err != nil {
		log.Fatal(err)
	}
	defer socket.Close()
	err = socket.WriteJSON(map[string]string{"text": "Good morning! Your table is ready.", "voice": "F1", "language": "en"})
	if err != nil {
		log.Fatal(err)
	}
	var pcm []byte
	for {
		kind, message, err := socket.ReadMessage()
		if err != nil {
			log.Fatal(err)
		}
		if kind == websocket.BinaryMessage {
			pcm = append(pcm, message...) // 16-bit samples, 44.1 kHz: play them as they come
		} else if string(message) == "EOS" {
			break
		} else if bytes.Contains(message, []byte(`"type":"error"`)) {
			log.Fatalf("%s", message)
		}
	}
	if err := os.WriteFile("hello.pcm", pcm, 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("hello.pcm: %d bytes\n", len(pcm))
}
