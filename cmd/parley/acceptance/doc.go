// Package acceptance tests Parley from outside: the built programs as processes,
// spoken to as people and other machines do. Callers speak with flite's voices
// over a WebSocket, the program's own softphone and baresip; what must be true
// afterwards is read from the socket, the recordings, the database and the exit
// statuses. It holds no product code.
package acceptance
