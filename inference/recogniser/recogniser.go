// Package recogniser is recognition at a vendor while the caller speaks: audio goes out over a WebSocket
// as it comes, texts come back. What vendors have in common is here; a Vendor is what differs.
//
//	stream.go     the Recognition that a call has; utterances, their last results
//	connection.go the socket: audio at its pace, what the vendor says, another socket when one breaks
//	clock.go      the vendor's time, which begins with each socket, on the tape
//
// A stream keeps the audio that has no final result yet (inference.Tape). When its socket breaks it opens
// another, twice in 10 s at most, and sends that audio again, faster than it was spoken; what was final
// stays as it is, and partial texts are held back until the vendor has heard all again. After that, and
// at once when the vendor refuses, the stream fails, and another engine may take over.
package recogniser

import (
	"context"
	"encoding/binary"
	"slices"
	"time"

	"parley/inference"
	"parley/inference/remote"
	"parley/media/g711"
)

// Vendor is what one vendor's recogniser says on its wire.
type Vendor interface {
	// Info describes it. Its Latency is also how long a Finish may stay unanswered.
	Info() inference.Info
	// Path is the path and query of a stream's socket.
	Path(inference.ASRConfig) string
	// Pace is how audio is sent.
	Pace() Pace
	// Connect makes what speaks on one socket.
	Connect(inference.ASRConfig) Connection
}

// Pace is how a vendor wants audio.
type Pace struct {
	Chunk time.Duration // of a message
	// Least is of any message, and Asked of all before a Finish: silence fills it up; 0: any.
	Least, Asked time.Duration
	// Silence asks for the final text, of a vendor that has no message for it.
	Silence time.Duration
	// RealTime says that audio may not be sent faster than it was spoken. Of what has to be sent again, only the
	// latest 3 s are.
	RealTime bool
}

// Connection is what is said on one socket. It belongs to one goroutine. Messages are text unless they are said to be binary.
type Connection interface {
	// Begin is what comes first; nil: nothing does.
	Begin() []byte
	// Audio makes a message of samples at the rate of ASRConfig.Format, which it does not keep.
	Audio(samples []int16) (message []byte, binary bool)
	// Read makes of a message of the vendor's what was heard. Its error ends the socket.
	Read(message []byte) ([]Heard, error)
	// Finish asks for the final text of all audio so far; nil: there is no message for it, and Pace.Silence asks.
	Finish() []byte
	// Configure changes how turns end; nil: that cannot be said, or not yet.
	Configure(inference.TurnOptions) []byte
	// Idle keeps the socket open when no audio has been sent for the time; nil: silence does.
	Idle() (message []byte, after time.Duration)
	// End asks for what is left; the vendor closes the socket after it.
	End() []byte
}

// laws are the codecs of G.711 by encoding.
var laws = map[inference.Encoding]g711.Codec{inference.PCMU: g711.PCMU, inference.PCMA: g711.PCMA}

// Encode is samples as an encoding writes them.
func Encode(e inference.Encoding, samples []int16) []byte {
	if law, ok := laws[e]; ok {
		b := make([]byte, len(samples))
		law.Encode(b, samples)
		return b
	}
	b := make([]byte, 0, 2*len(samples))
	for _, v := range samples {
		b = binary.LittleEndian.AppendUint16(b, uint16(v))
	}
	return b
}

// Telephone is how vendors get the audio of telephone calls. Which law a call has is not known when its stream is opened, and
// a recogniser hears no difference.
var Telephone = inference.Format{Encoding: inference.PCMU, Rate: g711.Rate}

// Plain is embedded in the Connection of a vendor that takes binary audio, and turns as they are.
type Plain struct{ Encoding inference.Encoding }

// Begin implements Connection.
func (Plain) Begin() []byte { return nil }

// Audio implements Connection.
func (p Plain) Audio(samples []int16) ([]byte, bool) { return Encode(p.Encoding, samples), true }

// Configure implements Connection.
func (Plain) Configure(inference.TurnOptions) []byte { return nil }

// Kind is what a Heard reports.
type Kind uint8

// The kinds.
const (
	Partial     Kind = iota // Text since the last Final may still change
	Final                   // Text will not change
	Answer                  // Final, of all audio before a Finish
	SpeechStart             // the caller begins to speak
	EagerEnd                // the turn is likely over; Text as in Partial
	Resumed                 // it was not
	TurnEnd                 // the turn is over; Text as in Final
)

// Heard is one thing that a vendor says of the audio. Times count from the first sample on the socket.
type Heard struct {
	Kind       Kind
	Text       string
	End        time.Duration // of the audio that it is about; 0: the vendor does not say
	Words      []inference.Mark
	Confidence float64 // 0 to 1; below 0: the vendor does not say
	EndProb    float64 // of EagerEnd and TurnEnd
	Language   string  // of a final Text, as the vendor names it; empty: the vendor does not say
	Number     int     // of the Finish on this socket that an Answer is to, from 1; 0: the vendor does not say
	// Tokens are what the vendor bills for it, where it bills tokens; nil: nothing.
	Tokens *inference.Usage
}

// Most is the language that most words have, of the first where there are several; empty: none has one.
func Most(languages []string) (most string) {
	n := map[string]int{}
	for _, l := range languages {
		if n[l]++; l != "" && n[l] > n[most] {
			most = l
		}
	}
	return most
}

// Engine is an inference.ASR. Safe for use from several goroutines.
type Engine struct {
	vendor Vendor
	client *remote.Client
}

// Of makes the engine of a vendor as it is listed, of which described are the options, and contacts nobody. headers carry the key.
func Of(e remote.Engine, described remote.Options, headers map[string]string, v Vendor) (*Engine, error) {
	client, err := e.Client(described, headers)
	if err != nil {
		return nil, err
	}
	return New(client, v), nil
}

// New makes the engine of a vendor that client reaches.
func New(client *remote.Client, v Vendor) *Engine { return &Engine{v, client} }

// Remote is how the vendor is reached.
func (e *Engine) Remote() *remote.Client { return e.client }

// Info implements inference.ASR.
func (e *Engine) Info() inference.Info { return e.vendor.Info() }

// Open implements inference.ASR. It waits for the handshake, 3 s at most.
func (e *Engine) Open(ctx context.Context, c inference.ASRConfig) (inference.Recognition, error) {
	info := e.vendor.Info()
	if c.Detect && info.Caps.Detects {
		c.Language = ""
	}
	if c.Language != "" && !slices.Contains(info.Languages, c.Language) {
		return nil, e.client.Fault(inference.ErrLanguage, nil)
	}
	if n := info.Caps.Keyterms; len(c.Hints.Terms) > n {
		c.Hints.Terms = c.Hints.Terms[:n]
	}
	return open(ctx, e, c)
}
