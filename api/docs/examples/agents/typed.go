//go:build ignore

package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"

	"github.com/gorilla/websocket"
)

func main() {
	url := strings.Replace(os.Getenv("PARLEY_URL"), "http", "ws", 1) + "/ws/agent?agent_id=" + os.Getenv("AGENT_ID")
	socket, _, err := websocket.DefaultDialer.Dial(url, http.Header{"X-API-Key": {os.Getenv("PARLEY_API_KEY")}})
	if err != nil {
		log.Fatal(err)
	}
	defer socket.Close()
	for asked := false; ; {
		kind, frame, err := socket.ReadMessage()
		if err != nil {
			log.Fatal(err)
		}
		if kind == websocket.BinaryMessage {
			continue // the agent's voice: 16-bit samples, 44.1 kHz
		}
		var message struct {
			Type, Role string
			Data       any
		}
		if err := json.Unmarshal(frame, &message); err != nil {
			log.Fatal(err)
		}
		switch {
		case message.Type == "transcript":
			fmt.Printf("%s: %s\n", message.Role, message.Data)
		case message.Type == "status" && message.Data == "listening" && asked:
			return // the answer has been played
		case message.Type == "status" && message.Data == "listening":
			if err := socket.WriteJSON(map[string]string{"type": "text", "data": "When do you open on Monday?"}); err != nil {
				log.Fatal(err)
			}
			asked = true
		}
	}
}
