package talk

// Ducks has a client announce that it lowers the agent's voice itself.
func (c *Client) Ducks() { c.features.Store(featureDuck) }
