//go:build ignore

package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// speak sends what a microphone hears: the question, then silence.
func speak(socket *websocket.Conn, question []byte) {
	for range time.Tick(20 * time.Millisecond) {
		chunk := make([]byte, 640)
		question = question[copy(chunk, question):]
		if socket.WriteMessage(websocket.BinaryMessage, chunk) != nil {
			return
		}
	}
}

func main() {
	question, err := os.ReadFile("speech.wav")
	if err != nil {
		log.Fatal(err)
	}
	url := strings.Replace(os.Getenv("PARLEY_URL"), "http", "ws", 1) + "/ws/agent?agent_id=" + os.Getenv("AGENT_ID")
	socket, _, err := websocket.DefaultDialer.Dial(url, http.Header{"X-API-Key": {os.Getenv("PARLEY_API_KEY")}})
	if err != nil {
		log.Fatal(err)
	}
	defer socket.Close()
	var voice []byte
	for speaking := false; ; {
		kind, frame, err := socket.ReadMessage()
		if err != nil {
			log.Fatal(err)
		}
		if kind == websocket.BinaryMessage {
			if speaking {
				voice = append(voice, frame...)
			}
			continue
		}
		var message struct {
			Type, Role string
			Data       any
		}
		if err := json.Unmarshal(frame, &message); err != nil {
			log.Fatal(err)
		}
		if message.Type == "transcript" {
			fmt.Printf("%s: %s\n", message.Role, message.Data)
		}
		if message.Type != "status" || message.Data != "listening" {
			continue
		}
		if len(voice) > 0 {
			break
		}
		if !speaking {
			go speak(socket, question[44:]) // 16 kHz, mono, 16 bits: past the header
			speaking = true
		}
	}
	if err := os.WriteFile("answer.pcm", voice, 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("answer.pcm: %d bytes\n", len(voice))
}
