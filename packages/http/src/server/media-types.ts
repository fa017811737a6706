/** The media type of plain HTML forms. */
export const formMediaType = 'application/x-www-form-urlencoded';
