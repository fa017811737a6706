export { v7 as newId } from 'uuid';

/** A UUID as the services write it: lower case, any version. */
export const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
