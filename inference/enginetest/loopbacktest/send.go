package loopbacktest

import (
	"encoding/json"

	"github.com/gorilla/websocket"
)

// JSON sends a value as a text message.
func (c *Client[M]) JSON(v any) {
	c.t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	c.Text(string(b))
}

// Binary sends a binary message.
func (c *Client[M]) Binary(data []byte) {
	c.t.Helper()
	if err := c.Conn.WriteMessage(websocket.BinaryMessage, data); err != nil {
		c.t.Fatal(err)
	}
}
