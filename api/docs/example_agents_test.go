package docs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
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

func Example_spoken() {
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

func Example_typed() {
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

func Example_webrtc() {
	offer, err := os.ReadFile("offer.sdp") // what your WebRTC library offers
	if err != nil {
		log.Fatal(err)
	}
	begun := send("POST", "/webrtc/agent?agent_id="+os.Getenv("AGENT_ID"), string(offer), "Content-Type", "application/sdp")
	fmt.Printf("%s\n", bytesOf(begun)) // the library takes the answer, and connects
	session := begun.Header.Get("Location")

	// Candidates that were found later, or that there are no more.
	changed := send("PATCH", session, "a=end-of-candidates\r\n", "Content-Type", "application/trickle-ice-sdpfrag", "If-Match", begun.Header.Get("ETag"))
	changed.Body.Close()
	fmt.Println(changed.StatusCode)

	ended := send("DELETE", session, "")
	ended.Body.Close()
	fmt.Println(ended.StatusCode)
}

const page = `<!doctype html>
<html lang="en">
<title>Casa Lola</title>
<h1>Casa Lola</h1>
<script src="PARLEY/widget.js" data-agent-name="Lola" data-ticket-url="/talk-ticket" async></script>
</html>`

// mint makes a ticket for one conversation of five minutes. Count here how many each
// visitor gets.
func mint(parley string) ([]byte, error) {
	wanted, err := json.Marshal(map[string]any{
		"agent_id": os.Getenv("AGENT_ID"), "ttl_seconds": 60, "max_sessions": 1, "max_duration_seconds": 300,
	})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest("POST", parley+"/v1/session-tickets", bytes.NewReader(wanted))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 400 {
		return nil, fmt.Errorf("no ticket: %s", answer.Status)
	}
	return io.ReadAll(answer.Body)
}

func Example_widget() {
	parley := os.Getenv("PARLEY_URL")
	sockets := "ws" + strings.TrimPrefix(parley, "http")
	policy := fmt.Sprintf("default-src 'self'; script-src 'self' %s; connect-src 'self' %s %s", parley, parley, sockets)
	http.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", policy)
		io.WriteString(w, strings.ReplaceAll(page, "PARLEY", parley))
	})
	http.HandleFunc("POST /talk-ticket", func(w http.ResponseWriter, r *http.Request) {
		ticket, err := mint(parley)
		if err != nil {
			log.Print(err)
			http.Error(w, "no ticket", http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		w.Write(ticket)
	})
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, nil))
}
