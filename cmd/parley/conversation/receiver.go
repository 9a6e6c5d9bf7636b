package conversation

import (
	"context"
	"errors"

	"github.com/gorilla/websocket"

	"parley/api"
	"parley/pipeline/schema"
	"parley/pipeline/tool"
	"parley/store"
)

// Receivers opens the sockets to which accounts have the audio of their calls sent: with their secrets, and where functions may go.
func Receivers(functions *tool.Provider) func(ctx context.Context, account, url string, headers map[string]string) (*websocket.Conn, error) {
	return func(ctx context.Context, account, url string, headers map[string]string) (*websocket.Conn, error) {
		conn, err := functions.Connect(ctx, account, tool.Socket{URL: url, Headers: headers})
		if _, ok := errors.AsType[schema.Mistake](err); ok {
			return nil, api.Bad("%v", err)
		}
		if err != nil && !errors.Is(err, store.ErrUnavailable) {
			return nil, api.Detail(api.ErrReceiver, err.Error())
		}
		return conn, err
	}
}
