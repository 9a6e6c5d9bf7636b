package scripted

var spanishLines = lines{
	hello:    "¡Hola! ¿En qué puedo ayudarle?",
	goodbye:  "Gracias por llamar. ¡Adiós!",
	fallback: "Perdone, no le he entendido. ¿Puede decirlo de otra manera?",
	ask: map[string]string{
		kindNumber: "¿Para cuántas personas?", kindDay: "¿Para qué día?", kindTime: "¿A qué hora?", kindName: "¿A qué nombre, por favor?",
		kindDigits: "¿Puede decirme {slot}, cifra a cifra?", kindText: "¿Puede decirme {slot}?",
	},
	moment: "Un momento, por favor, todavía lo estoy mirando.",
	failed: "Lo siento, no ha funcionado.",
	done:   "Hecho.",
	cannot: "Lo siento, ahora mismo no puedo hacerlo.",
}

var spanishTable = table{
	stop: `el la los las un una unos unas lo al del de a en con por para y e o u que se su sus mi mis tu tus me te le les nos os
		es son soy eres esta estan estoy estas ser estar hay ha han he tengo tiene tienen tienes haber
		yo usted ustedes ella ellos nosotros esto eso este ese esa aqui ahi muy mas pero si no como cual cuales que quien
		puedo puede puedes podria pueden quiero quiere quisiera querria gustaria necesito deseo hacer favor vale bueno pues oiga oye
		digame diga decir dime saber sobre algo ya tambien bien ok eh ah permiten admiten aceptan ofrecen venden posible pregunta informacion traer venir
		hola buenos buenas dias tardes noches gracias adios hora cuanto cuando donde`,
	talk: [][3]string{
		{greet, "hola|buenos días|buenas tardes|buenas noches|buenas|hola buenas|dígame", "¡Hola! ¿En qué puedo ayudarle?"},
		{bye, "adiós|hasta luego|hasta pronto|gracias adiós|muchas gracias adiós|eso es todo|nada más gracias|hasta mañana|chao|que tenga un buen día|tengo que colgar", "Gracias por llamar. ¡Adiós!"},
		{thanks, "gracias|muchas gracias|perfecto gracias|genial|estupendo|perfecto", "De nada. ¿Algo más?"},
		{who, "quién es usted|quién eres|cómo te llamas|cómo se llama|con quién hablo|eres un robot|es usted un robot|es una máquina|eres una persona|es una grabación", "Soy un asistente automático que sigue reglas."},
		{human, "quiero hablar con una persona|puedo hablar con alguien|hablar con un agente|póngame con una persona|páseme con un operador|quiero hablar con el encargado", "Lo siento, no puedo pasarle. ¿Puedo ayudarle en algo?"},
		{again, "puede repetir|repita por favor|cómo dice|perdón|qué ha dicho|no le he oído|no he entendido|otra vez por favor|no entiendo", "Todavía no he dicho nada. ¿En qué puedo ayudarle?"},
		{yes, "sí|sí por favor|claro|por supuesto|correcto|exacto|vale|de acuerdo|eso es", "Muy bien. ¿Qué le gustaría saber?"},
		{no, "no|no gracias|nada|para nada|ninguno", "De acuerdo. ¿Algo más?"},
	},
	asked: "cómo está|cómo estás|qué tal|cómo le va|" +
		"quiero reservar una mesa|quisiera hacer una reserva|me gustaría reservar una mesa|quiero pedir cita|quisiera una cita|una mesa para dos|reservar mesa para cuatro el viernes|puedo reservar una mesa|quiero reservar|hacer una reserva|" +
		"a qué hora abren|a qué hora abren el lunes|cuándo abren|a qué hora cierran|a qué hora cierran el sábado|abren los domingos|están abiertos hoy|cuál es su horario|hasta qué hora están abiertos|" +
		"cuánto cuesta|cuánto vale|qué precio tiene|cuáles son los precios|dónde están|cuál es la dirección|cómo se llega|tienen aparcamiento|dónde puedo aparcar|reparten a domicilio|se puede pagar con tarjeta|" +
		"qué hay en la carta|tienen menú del día|tienen platos vegetarianos|hay que reservar|cuál es su teléfono|para dos personas|para cuatro personas|por la mañana|por la tarde|las seis y media|las siete y cuarto",
	numbers: "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte",
	tens:    "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
	more: map[string]int{"un": 1, "una": 1, "veintiuno": 21, "veintiuna": 21, "veintidós": 22, "veintitrés": 23, "veinticuatro": 24,
		"veinticinco": 25, "veintiséis": 26, "veintisiete": 27, "veintiocho": 28, "veintinueve": 29},
	and: "y", days: "lunes martes miércoles jueves viernes sábado domingo hoy mañana",
	at: "a las|a la|sobre las|las", clock: "horas|en punto", shifts: "y media=30|y cuarto=15|menos cuarto=-15",
	afternoon: "de la tarde|de la noche|esta noche", noon: "mediodía",
	nameLeads:    "me llamo|mi nombre es|a nombre de",
	instructions: "eres|tu eres|usted es|tu|tus|te llamas|debes|puedes|responde|contesta|habla|saluda|sé breve|siempre|nunca|no digas|no inventes|no hables|pregunta|usa|ofrece|ayuda|atiendes|trabajas|si el cliente|si el usuario|si la persona|si te|cuando el cliente|cuando el usuario|el cliente|el usuario|di que|explica",
}
