//go:build ignore

package main

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
)

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

func main() {
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
