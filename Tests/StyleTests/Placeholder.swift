// Style
