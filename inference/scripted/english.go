package scripted

var englishLines = lines{
	hello:    "Hello! How can I help you?",
	goodbye:  "Thank you for calling. Goodbye!",
	fallback: "Sorry, I did not understand that. Could you say it another way?",
	ask: map[string]string{
		kindNumber: "For how many people?", kindDay: "For which day?", kindTime: "At what time?", kindName: "What name, please?",
		kindDigits: "Could you tell me the {slot}, digit by digit?", kindText: "Could you tell me the {slot}?",
	},
	moment: "One moment please, I am still looking into it.",
	failed: "I'm sorry, that did not work.",
	done:   "Done.",
	cannot: "I'm sorry, I cannot do that right now.",
}

var englishTable = table{
	stop: `a an the of to in on at for from by with and or but so as is are am be was were been do does did have has had
		i you he she it we they me him her us them my your his its our their this that these those there here
		what which how can could would will shall should may might must want like need get let please just
		ok okay well yeah uh um oh er ah then than if not no yes any some about tell know think say go going
		s m re ll ve d t don i'd i'm you're one hi up out too very really who whose why before after still again only
		allowed permitted accept offer offered sell buy give take bring come possible available question questions information anything something someone everything use
		hello hey thanks thank good morning afternoon evening bye goodbye time much many when where`,
	talk: [][3]string{
		{greet, "hello|hi|hi there|hey|hello there|good morning|good afternoon|good evening", "Hello! How can I help you?"},
		{bye, "goodbye|good bye|bye|bye bye|thanks bye|thank you goodbye|thank you bye|that is all|that's all thank you|that will be all|nothing else thank you|see you|have a nice day|have a good day|i have to go|hang up", "Thank you for calling. Goodbye!"},
		{thanks, "thank you|thanks|thank you very much|thanks a lot|that is great thank you|perfect thank you|great|perfect", "You're welcome. Is there anything else?"},
		{who, "who are you|what is your name|what are you|who am i talking to|who am i speaking to|are you a robot|are you a machine|are you a computer|are you human|are you a real person|is this a recording", "I am an automated assistant that follows rules."},
		{human, "i want to talk to a person|can i speak to a human|speak to someone|talk to an operator|transfer me|put me through to a person|let me speak to the manager|a real person please", "I'm sorry, I cannot put you through. Can I help you with something?"},
		{again, "can you repeat that|repeat please|say that again|pardon|sorry what did you say|what did you say|i did not hear you|i did not understand|once more please|excuse me|come again", "I have not said anything yet. How can I help you?"},
		{yes, "yes|yes please|yeah|sure|of course|correct|that is right|exactly|okay|ok|right|absolutely", "Very well. What would you like to know?"},
		{no, "no|no thank you|no thanks|nope|not really|not at all|nothing", "All right. Is there anything else?"},
	},
	asked: "how are you|how are you doing|how is it going|" +
		"i would like to book a table|i want to make a reservation|book a table for two|i would like to make an appointment|can i book a table|i want to reserve a table|i'd like to book a table for four on friday|make an appointment|can i make an appointment|i would like an appointment|a table for two please|i want to book|" +
		"what time do you open|what time do you open on monday|when do you open|when do you close|what time do you close on saturday|are you open on sunday|are you open today|are you open tomorrow|what are your opening hours|until what time are you open|" +
		"how much does it cost|how much is it|what is the price|what are your prices|where are you|where are you located|what is your address|how can i find you|where can i find you|" +
		"do you have parking|where can i park|do you deliver|can i pay by card|do you take credit cards|what is on the menu|do you have vegetarian food|do you have a table|do i need a reservation|" +
		"what is your phone number|what is your email|i would like some information|for two people|for four people|in the morning|in the afternoon|next week|half past six|six thirty|quarter past seven|seven o'clock",
	numbers: "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty",
	tens:    "twenty thirty forty fifty sixty seventy eighty ninety",
	more:    map[string]int{"couple": 2, "oh": 0},
	and:     "and", days: "Monday Tuesday Wednesday Thursday Friday Saturday Sunday today tomorrow",
	at: "at|around|about", clock: "o'clock|oclock|am|pm|a m|p m", shifts: "half past=30|quarter past=15|quarter to=-15",
	afternoon: "pm|p m|in the afternoon|in the evening|at night|tonight", noon: "noon|midday",
	nameLeads:    "my name is|my name's|the name is|i am called|under the name of",
	instructions: "you are|you re|you should|you must|you can|you will|you have|you help|you answer|you work|you speak|your|always|never|do not|don t|be|answer|speak|keep|ask|use|greet|say|respond|reply|act|make sure|avoid|try|remember|tell|only answer|only speak|stay|behave|offer|help|explain|mention|if the|if a caller|if you|if someone|if they|when the|when a caller|when someone|when you|the caller|the user",
}
