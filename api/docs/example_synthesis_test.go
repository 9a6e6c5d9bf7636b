package docs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

type task struct {
	ID     string `json:"task_id"`
	Status string
	Error  json.RawMessage // why it failed
}

func Example_cancel() {
	var t task
	ask("POST", "/api/tts/M1/async", `{"text": "`+strings.Repeat("Once upon a time there was a telephone. ", 500)+`", "language": "en"}`, &t)
	ask("DELETE", "/api/tts/tasks/"+t.ID, "", &t)
	fmt.Println(t.Status)
}

func Example_oneShot() {
	wav := bytesOf(send("POST", "/tts/synthesize", `{"text": "Good morning! Your table is ready.", "voice": "F1", "language": "en"}`))
	if err := os.WriteFile("hello.wav", wav, 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("hello.wav: %d bytes\n", len(wav))
}

func Example_stream() {
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

func Example_task() {
	var t task
	ask("POST", "/api/tts/M1/async", `{"text": "Once upon a time there was a telephone.", "language": "en", "output_format": "wav"}`, &t)
	for t.Status == "pending" || t.Status == "processing" {
		time.Sleep(2 * time.Second)
		ask("GET", "/api/tts/tasks/"+t.ID, "", &t)
	}
	if t.Status == "failed" {
		log.Fatalf("%s", t.Error)
	}
	audio := bytesOf(send("GET", "/api/tts/tasks/"+t.ID+"/download", ""))
	if err := os.WriteFile("story.wav", audio, 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("story.wav: %d bytes\n", len(audio))
}
