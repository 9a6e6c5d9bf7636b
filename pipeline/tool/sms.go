package tool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"parley/inference"
)

// SendSMS is the name of the function that NewSendSMS makes.
const SendSMS = "send_sms"

// NewSendSMS makes the function that sends the other party of a call a text message. The error of send says to the model why it
// was not sent.
func NewSendSMS(send func(ctx context.Context, text string) error) Function {
	return Function{
		Spec: inference.Tool{Name: SendSMS,
			Description: "Send the person you talk to a text message (SMS), such as an address, a link or a confirmation. Only when they have agreed to it; then tell them that it is on its way.",
			Parameters:  []byte(`{"type":"object","properties":{"text":{"type":"string","maxLength":1000,"description":"What the message says, as it is to be read."}},"required":["text"],"additionalProperties":false}`)},
		Run: func(ctx context.Context, arguments json.RawMessage) (string, error) {
			var in struct {
				Text string `json:"text"`
			}
			if json.Unmarshal(arguments, &in) != nil || strings.TrimSpace(in.Text) == "" {
				return "", errors.New("the arguments do not fit the function's parameters")
			}
			if err := send(ctx, strings.TrimSpace(in.Text)); err != nil {
				return "", err
			}
			return `{"sent":true}`, nil
		},
	}
}
