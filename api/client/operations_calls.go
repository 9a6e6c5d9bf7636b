// Code generated from the service's OpenAPI document. DO NOT EDIT.

package client

import (
	"context"
	"net/http"

	"parley/api/wire"
)

// HangUpAnyCall: Hang up any call.
// Ends a call of any direction at once, as `api_hangup`. One that has ended already answers the same.
func (c *Client) HangUpAnyCall(ctx context.Context, id string) (*wire.HungUp, error) {
	return ask[wire.HungUp](ctx, c, http.MethodPost, c.address("v1", "calls", id, "hangup"), nil)
}

// ListenIn: Listen in on a call.
// Sends the audio of a call that is going on, until it is over or the socket is closed. Nobody in the call hears of
// it, unless its agent has `listening_tone`: then everybody hears a soft tone at the
// beginning, and every 15 seconds. Who listened, and when, is in the call.
//
// The first message is `{"type": "listening", "call_id", "sample_rate", "channels": 2}`. Then come binary messages
// with 20 ms each: Int16 little endian, the caller on the left and the
// other side on the right, as the caller hears it. The last is `{"type": "ended"}`. What is refused is answered by one
// error message and close code 1008. A client that is slow misses audio.
// Eight may listen in on a call at once. It costs nothing.
//
// Who may speak sends `{"type": "take_over"}`: the agent stops at once, and is silent until `{"type": "give_back"}`,
// or the end of the socket. Meanwhile binary messages, Int16 little
// endian at the same rate on one channel, of any length up to 200 ms, are what the caller hears. `taken_over` and
// `given_back` answer. One person speaks at a time. What they say stands in the
// transcript as the role `supervisor`, and the agent knows it afterwards. `{"type": "whisper", "text": "…"}` tells
// the agent something that the caller does not hear, for its next replies.
//
// Once the caller is connected to a person by a transfer, a whisper is said to that person by the agent's voice, and
// the caller does not hear it; up to four wait for their turn, and more are dropped. `{"type": "coach"}` lets only
// that person hear what you say, sent as above; `coaching` answers, and `give_back` ends it. What the two say is sent
// to you where the agent has `record_transfers`.
func (c *Client) ListenIn(ctx context.Context, id string) error {
	return c.did(ctx, http.MethodGet, c.address("v1", "calls", id, "listen"), nil)
}

// DeleteCallRecording: Delete the recording of a call.
// For good. That there was one stays with the call. What is deleted while the call lasts is not kept when it ends;
// deleting it again changes nothing.
func (c *Client) DeleteCallRecording(ctx context.Context, id string) error {
	return c.did(ctx, http.MethodDelete, c.address("v1", "calls", id, "recording"), nil)
}

// GetCallWaveform: Fetch the waveform of a recording.
// How loud each side was over the time of the recording, in at most 1,200 equal parts: enough to draw it, however long
// it is, without its audio. It is made with the recording, and goes with it.
func (c *Client) GetCallWaveform(ctx context.Context, id string) (*wire.Waveform, error) {
	return ask[wire.Waveform](ctx, c, http.MethodGet, c.address("v1", "calls", id, "recording", "peaks"), nil)
}

// GetCallSip: Read the signalling of a call.
// The SIP messages of a telephone call as they were sent and received, oldest first, stored every few seconds while it
// lasts and once more when it is over: at most 200 messages and 128 kB; `dropped` earlier ones are not kept.
// Credentials, keys of encryption and digits are masked. A call over a WebSocket has none.
func (c *Client) GetCallSip(ctx context.Context, id string) (*wire.SIPTrace, error) {
	return ask[wire.SIPTrace](ctx, c, http.MethodGet, c.address("v1", "calls", id, "sip"), nil)
}

// StartStream: Send the audio of a call to a WebSocket.
// Sends the audio of a call that is going on to a WebSocket of yours, until the call is over, the stream is deleted or
// your server closes the socket. The messages are those of
// Twilio's Media Streams: `connected`, `start`, `media` and `stop`, with audio of 20 ms in PCMU at 8 kHz; track
// `inbound` is what the person on the line says, `outbound` what they hear. `streamSid`, `accountSid` and `callSid`
// are the identifiers of Parley. What you send is ignored. A server that is slow misses audio, and `timestamp` goes
// on; one that takes nothing for 5 s loses the stream.
//
// Nobody in the call hears of it; who asked for it, when, and the host it went to are in the call. Streams and people
// who listen in are eight at most. It costs nothing.
func (c *Client) StartStream(ctx context.Context, id string, body wire.NewStream) (*wire.Stream, error) {
	return ask[wire.Stream](ctx, c, http.MethodPost, c.address("v1", "calls", id, "streams"), body)
}

// StopStream: Stop a stream.
// Ends one stream of a call; the call goes on.
func (c *Client) StopStream(ctx context.Context, id string, stream string) error {
	return c.did(ctx, http.MethodDelete, c.address("v1", "calls", id, "streams", stream), nil)
}
